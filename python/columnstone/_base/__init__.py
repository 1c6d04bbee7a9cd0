"""Shared basics: errors, checks of arguments, optional packages, paths and file objects."""

"""Lineage: stores of artifacts, executions and contexts."""

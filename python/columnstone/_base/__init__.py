"""What every room needs: errors, checks of arguments, optional packages, paths and file objects."""

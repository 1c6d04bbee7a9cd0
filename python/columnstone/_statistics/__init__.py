"""Statistics: the content of data, and the changes between two data sets."""

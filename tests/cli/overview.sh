columnstone --help

columnstone --version

for verb in head count verify 'schema infer' 'schema spec' convert 'lineage add' gc; do
  # shellcheck disable=SC2086
  columnstone $verb --help >help
  head -n 1 help
  grep -c -- '--help' help
done
columnstone schema --help

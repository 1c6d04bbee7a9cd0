columnstone haed x.tfrecord || echo "exit status $?"
columnstone schema infre x.tfrecord || echo "exit status $?"
columnstone schema || echo "exit status $?"
columnstone frobnicate || echo "exit status $?"

"""Prints where the pyarrow package keeps Arrow C++, one item per line: the include folder, the
library folder, the libraries arrow and parquet. Exits with 1 if there is no pyarrow, or one without
headers.
"""

import glob
import os
import sys

try:
    import pyarrow
except ImportError:
    sys.exit(1)

include = pyarrow.get_include()
folder = os.path.dirname(pyarrow.__file__)
libraries = [
    sorted(glob.glob(os.path.join(folder, f"lib{name}.so.*"))) for name in ("arrow", "parquet")
]
if not os.path.exists(os.path.join(include, "parquet", "arrow", "writer.h")) or not all(libraries):
    sys.exit(1)
print(include, folder, *(found[0] for found in libraries), sep="\n")

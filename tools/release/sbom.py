"""The software bill of materials, in CycloneDX's JSON: what is compiled into the wheels, with the
source archives that it comes from."""

import configparser
import json
import pathlib
import uuid

# What is compiled in of each source archive: name, version, licence, package URL. The archive is a
# source distribution of PyPI; the C library in it has a version of its own.
PARTS = {
    "isal": [("isal", "2.32.1", "BSD-3-Clause", "pkg:github/intel/isa-l@v2.32.1")],
    "lz4": [("lz4", "1.9.4", "BSD-2-Clause", "pkg:github/lz4/lz4@v1.9.4")],
    "nanoarrow": [
        ("nanoarrow", "0.9.0", "Apache-2.0", "pkg:pypi/nanoarrow@0.9.0"),
        ("flatcc", "0.6.1", "Apache-2.0", "pkg:github/dvidelabs/flatcc@v0.6.1"),
    ],
    "sqlite3": [("sqlite3", "3.50.4", "blessing", "pkg:generic/sqlite@3.50.4")],
    "yyjson": [("yyjson", "0.10.0", "MIT", "pkg:github/ibireme/yyjson@0.10.0")],
    "zstd": [("zstd", "1.5.7", "BSD-3-Clause", "pkg:github/facebook/zstd@v1.5.7")],
}


def faults(notices: str) -> list[str]:
    """Parts whose version is another one in THIRD_PARTY_NOTICES, or that it lacks."""
    listed = [(part, parts) for parts in PARTS.values() for part in parts]
    return [
        f"sbom.py has {name} {version}, THIRD_PARTY_NOTICES has not"
        for (name, version, _, _), parts in listed
        if f"\n{name} {version} " not in notices and (name, version) == parts[0][:2]
    ]


def components(subprojects: pathlib.Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for wrap in sorted(subprojects.glob("*.wrap")):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(wrap)
        if not parser.has_option("wrap-file", "patch_directory"):
            continue  # written by Meson for a nested subproject
        section = parser["wrap-file"]
        package = parser.get("columnstone", "package", fallback=wrap.stem)
        release = section["source_filename"].removesuffix(".tar.gz").rsplit("-", 1)[1]
        for name, version, licence, purl in PARTS[wrap.stem]:
            found.append(
                {
                    "type": "library",
                    "bom-ref": purl,
                    "name": name,
                    "version": version,
                    "scope": "required",
                    "licenses": [{"license": {"id": licence}}],
                    "purl": purl,
                    "externalReferences": [
                        {
                            "type": "source-distribution",
                            "url": f"pkg:pypi/{package}@{release}",
                            "hashes": [{"alg": "SHA-256", "content": section["source_hash"]}],
                        }
                    ],
                }
            )
    return found


def make(subprojects: pathlib.Path, version: str, time: str) -> str:
    parts = components(subprojects)
    ours = f"pkg:pypi/columnstone@{version}"
    text = json.dumps(parts, sort_keys=True)
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, ours + text)}",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": {
                "type": "library",
                "bom-ref": ours,
                "name": "columnstone",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "purl": ours,
            },
        },
        "components": parts,
        "dependencies": [{"ref": ours, "dependsOn": sorted(str(p["bom-ref"]) for p in parts)}],
    }
    return json.dumps(bom, indent=2) + "\n"

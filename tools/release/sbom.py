"""The software bill of materials, in CycloneDX's JSON: what is compiled into the wheels, with the
source archives that it comes from."""

import json
import uuid

from project import Wrap, wraps

# What is compiled in of each source archive, besides what the overlay is named for: name, version,
# licence, package URL.
NESTED = {
    "nanoarrow": [("flatcc", "0.6.1", "Apache-2.0", "pkg:github/dvidelabs/flatcc@v0.6.1")],
}
# Licence and package URL, without the version, of the C library in each.
LIBRARIES = {
    "isal": ("BSD-3-Clause", "pkg:github/intel/isa-l@v"),
    "lz4": ("BSD-2-Clause", "pkg:github/lz4/lz4@v"),
    "nanoarrow": ("Apache-2.0", "pkg:pypi/nanoarrow@"),
    "sqlite3": ("blessing", "pkg:generic/sqlite@"),
    "yyjson": ("MIT", "pkg:github/ibireme/yyjson@"),
    "zstd": ("BSD-3-Clause", "pkg:github/facebook/zstd@v"),
}


def faults(notices: str) -> list[str]:
    """Libraries whose version is another one in THIRD_PARTY_NOTICES, or that it lacks."""
    return [
        f"subprojects has {wrap.name} {wrap.version}, THIRD_PARTY_NOTICES has not"
        for wrap in wraps()
        if f"\n{wrap.name} {wrap.version} " not in notices
    ]


def component(wrap: Wrap, name: str, version: str, licence: str, purl: str) -> dict[str, object]:
    source = {
        "type": "source-distribution",
        "url": f"pkg:pypi/{wrap.package}@{wrap.release}",
        "hashes": [{"alg": "SHA-256", "content": wrap.sha256}],
    }
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "scope": "required",
        "licenses": [{"license": {"id": licence}}],
        "purl": purl,
        "externalReferences": [source],
    }


def components() -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for wrap in wraps():
        licence, purl = LIBRARIES[wrap.name]
        version = wrap.version
        found.append(component(wrap, wrap.name, version, licence, purl + version))
        found += [component(wrap, *nested) for nested in NESTED.get(wrap.name, [])]
    return found


def make(version: str, time: str) -> str:
    parts = components()
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

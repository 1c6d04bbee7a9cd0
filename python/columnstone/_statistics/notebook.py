"""Pages in notebooks."""

from __future__ import annotations

import html


def framed(page: str) -> str:
    """A page embedded in another one, so that neither changes the style of the other."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" '
        'style="width: 100%; height: 36em; border: 0" title="Statistics"></iframe>'
    )

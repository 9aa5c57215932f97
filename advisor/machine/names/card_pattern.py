"""Pattern of graphics cards within the name of a machine."""

import re

COUNT = (
    r"(?<![\w.-])(?:(?:\d{1,2}\s*[x*]\s*|[x*]\s?\d{1,2}\s+|\(\s?\d{1,2}\s?x?\s?\)\s*"
    r"|(?:dual|twin|triple|quad|both|two|three|four|five|six|seven|eight|(?:a )?pair of)\s+"
    r"|(?:(?<=^)|(?<=[,;+&|])|(?<=[,;+&|:] )|(?<=with )|(?<=and ))"
    r"\d{1,2}\s+(?=rtx|gtx|rx|nvidia|radeon|tesla|titan|mi\d{2}|\d{4}s?\b"
    r"|[ahblvpmk]\d{2,3}s?\b))"
    r"(?:\d{1,3} ?gb\s+)?)?"
)
MAKERS = r"(?:(?:nvidia|geforce|amd|radeon|intel|tesla|quadro|instinct)\s+)*"
MODELS = (
    r"rtx pro \d{3,4}", r"(?:rtx|gtx|rx|gt) ?a?\d{3,4}", r"(?:quadro )?[pmtk]\d{3,4}\b",
    r"rtx titan\b", r"titan \w+", r"(?:pro )?wx ?\d{4}\b", r"cmp ?\d{2,3}(?:hx)?(?:-\d{3})?\b",
    r"arc (?:pro )?[ab]\d{2,3}m?\b", r"arc [3-7][1-8]0\b", r"arc 1[34]0[vt]\b",
    r"[ab][57]\d0\b",
    r"vega (?:56|64|fe)\b", r"radeon (?:vii|pro [wv]\w+)\b", r"iris xe\b", r"mi ?\d{2,3}[axc]?\b",
    r"[ahbvplkmt]\d{1,3}[sg]?\b(?!-\d{4})", r"g[bh]\d{2,3}\b", r"a[2456]000\b",
    r"w[5-7]\d00x?\b(?: duo\b)?", r"(?:ai pro )?r9[67]00[sd]?\b", r"[67][6-9]00[sm]\b",
    r"pro ?(?:6000|5000|4500|4000)\b", r"6000 ada\b", r"(?:[1-9]\d{2}m|80[456][05]s)\b",
    r"(?:[1-5]0[5-9]0|16[356]0|[5-9]\d[05-7]0 ?(?:xtx|xt|gre))(?:ti|s|d|m)?(?:\b|(?=x\d{1,2}\b))",
    r"(?:jetson |agx |orin |thor\b)(?:(?!cortex)[\w ])*",
)  # fmt: skip
NO_INSTANCE = r"(?!\.\d*x?large|\.metal|-(?:\w+gpu|standard|highmem|highcpu)-\d)"
"""What follows the family of a rented machine ("m4.16xlarge", "a2-highgpu-1g") and no card."""
SUFFIXES = (
    r"(?:(?:[ -]*(?:ti super|ti|super|xtx|xt|gre|laptop|mobile|(?:with )?max-?q(?: design)?"
    r"|ada(?: generation)?"
    r"|blackwell|generation|server|workstation|edition|pcie|sxm\d?|nvl|hbm\de?|sff|founders|fe"
    r"|xfx|msi|evga|zotac|palit|sapphire|powercolor|pny|gainward|inno3d|galax|kfa2|oc|ventus|ftw3"
    r"|suprim|windforce|d|s|(?!x[5-9][89]\b)x ?\d{1,2}))\b)*"
)
SIZE = (
    r"(?:[\s-]*\(?\d{1,3} ?g(?!\.\d)(?:i?b)?(?:\b|(?=x ?\d\b))\)?"
    r"(?! ?(?:ram|ddr|memory|unified|ssd|nvme|lpddr)))?"
)
SLICE = r"(?:(?: hbm\de?)?[\s,(-]*(?:mig[\s:-]*)?\d ?g[._]\d{1,3} ?gb\)?)?"
SOCKET = r"(?: (?:sxm\d?|pcie|nvl)\b(?! ?(?:gen ?)?[1-6]\b))?"
CARD = re.compile(
    rf"{COUNT}{MAKERS}(?:{'|'.join(MODELS)}){NO_INSTANCE}{SUFFIXES}{SIZE}{SOCKET}{SLICE}(?:-\d{{1,2}}[abcq]\b)?(?:\s*(?!x[5-9][89]\b)[x*]\s?\d{{1,2}}\b)?"
)
"""Pattern of graphics cards in plain text: count, maker, number, suffixes, size; X58, X79 and X99
are boards.
"""

"""Charts of a report: `charts` describes them, of `chart_parts`; `painting` and `svg` draw them."""

"""Renders a Helm chart offline: values as JSON on standard input, manifests on standard output.

    python render_chart.py CHART NAMESPACE [--notes] < values.json

With --notes, what Helm says after an installation in their place.
"""

import json
import sys

import helm_python


def main() -> int:
    chart = helm_python.Chart.load(sys.argv[1])
    values = json.load(sys.stdin)
    try:
        chart.validate_schema(values)
        rendered = chart.render(values, name="warmpath", namespace=sys.argv[2])
    except helm_python.HelmError as refused:
        print(f"refused: {refused}", file=sys.stderr)
        return 1
    notes = "--notes" in sys.argv[3:]
    for path, text in sorted(rendered.items()):
        if notes and path.endswith("NOTES.txt"):
            print(text)
        if not notes and path.endswith(".yaml") and text.strip():
            print(f"---\n# {path}\n{text}")
    return 0


sys.exit(main())

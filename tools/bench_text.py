# SPDX-License-Identifier: Apache-2.0
"""Make Markdown for the pages of measurements."""


def table(head, rows):
    """Make a table; the first column is text, the others are figures."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def verdict(value, target):
    return "kept" if value <= target else "**not kept**"

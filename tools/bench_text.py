# SPDX-License-Identifier: Apache-2.0
"""Markdown, as the pages of measurements have it."""


def table(head, rows):
    """The first column is text, the others are figures."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def verdict(value, target):
    return "kept" if value <= target else "**not kept**"

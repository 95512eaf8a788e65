"""A table of text, in Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Table", "bold"]

BOLD = "*"  # how the text of a bold figure begins


def bold(text: str) -> str:
    """Mark the text of a table's cell as bold.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return BOLD + text


@dataclass(frozen=True)
class Table:
    """Rows of text under a header.

    Parameters
    ----------
    title : str
    header : sequence of str
    rows : sequence of sequence of str
        Bold figures are marked by ``bold``.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def is_empty(self) -> bool:
        """Whether there are no figures in the table."""
        return all(cell in ("–", "") for row in self.rows for cell in row[1:])

    def markdown(self) -> str:
        """Return the table in Markdown.

        Returns
        -------
        str
        """
        lines = [f"| {' | '.join(self.header)} |", "| --- " * len(self.header) + "|"]
        for row in self.rows:
            cells = [f"**{cell[1:]}**" if cell.startswith(BOLD) else cell for cell in row]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """Return the table in LaTeX, for the package booktabs.

        Returns
        -------
        str
        """
        lines = [f"\\begin{{tabular}}{{{'l' * len(self.header)}}}", "\\toprule"]
        lines.append(" & ".join(_escaped(cell) for cell in self.header) + " \\\\")
        lines.append("\\midrule")
        for row in self.rows:
            cells = [
                f"\\textbf{{{_escaped(cell[1:])}}}" if cell.startswith(BOLD) else _escaped(cell)
                for cell in row
            ]
            lines.append(" & ".join(cells) + " \\\\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def csv(self) -> str:
        """Return the table as comma-separated values, without bold marks.

        Returns
        -------
        str
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([cell.lstrip(BOLD) for cell in row] for row in self.rows)
        return text.getvalue()


def _escaped(text: str) -> str:
    for plain, special in (("\\", "\\textbackslash "), ("_", "\\_"), ("%", "\\%"), ("±", "$\\pm$")):
        text = text.replace(plain, special)
    return text

"""Run a notebook without a browser, and write its pictures: run_notebook.py FROM TO FOLDER."""

import base64
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main(source: Path, target: Path, folder: Path) -> int:
    """Run every cell, write the notebook with its outputs, and each picture as a file."""
    notebook = nbformat.read(source, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    nbformat.write(notebook, target)
    folder.mkdir(exist_ok=True)
    without_output = []
    for number, cell in enumerate(notebook.cells):
        outputs = cell.get("outputs", [])
        if cell.cell_type == "code" and not outputs:
            without_output.append(number)
        for output in outputs:
            data = output.get("data", {})
            if "image/png" in data:
                picture = base64.b64decode(data["image/png"])
                (folder / f"cell-{number}.png").write_bytes(picture)
            if "text/html" in data:
                (folder / f"cell-{number}.html").write_text(data["text/html"], "utf-8")
            if output.output_type == "stream" and output.name == "stderr":
                raise SystemExit(f"error: cell {number} prints on standard error: {output.text}")
    print(f"{len(notebook.cells)} cells, outputs in {folder}")
    print(f"cells without output: {without_output or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))

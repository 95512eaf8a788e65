"""Print the oldest versions that pyproject.toml allows, as pip constraints."""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
UNTESTED = ("torch>=",)  # their oldest versions cannot be had everywhere
EXTRAS = re.compile(r"\[.*?\]")  # constraints cannot have them
OF_THEIR_TIME = (
    "pyparsing<3.3",  # later ones warn of what Matplotlib 3.8 calls
    "torch==2.13.0",  # later ones need a later onnxscript
)


def main() -> None:
    """Turn each ``name>=version`` into ``name==version``."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    for requirement in sum(extras, start=project["dependencies"]):
        if not requirement.startswith(("immax[", *UNTESTED)):
            print(EXTRAS.sub("", requirement).replace(">=", "=="))
    print("\n".join(OF_THEIR_TIME))


if __name__ == "__main__":
    main()

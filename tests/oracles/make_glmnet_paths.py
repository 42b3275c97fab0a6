"""Freeze paths of R's glmnet, for tests/test_glmnet_peer.py to compare with ours.

Run it where R and its package glmnet are installed (Debian: ``r-cran-glmnet``)::

    python tests/oracles/make_glmnet_paths.py

The tables are made by ``peer_tables`` in tests/glmnet_cases.py. The result goes to
``glmnet_paths.json`` beside this file: for each table and each share of absolute values the
penalties (those of glmnet times the number of rows), and intercept and coefficients at each.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from glmnet_cases import RATIOS, SHARES, peer_tables  # noqa: E402

# Coefficients are printed so that they come back to the last bit.
SCRIPT = """
suppressMessages(library(glmnet))
arguments <- commandArgs(TRUE)
rows <- as.matrix(read.csv(arguments[1]))
alpha <- as.numeric(arguments[2])
shares <- as.numeric(strsplit(arguments[3], ",")[[1]])
x <- rows[, -1]
y <- rows[, 1]
family <- if (length(unique(y)) == 2) "binomial" else "multinomial"
y <- if (family == "binomial") y else as.factor(y)
# The largest penalty is not known beforehand: ask for a path first.
largest <- glmnet(x, y, family, alpha = max(alpha, 0.001), nlambda = 5)$lambda[1]
fit <- glmnet(x, y, family, alpha = alpha, lambda = largest * shares, standardize = TRUE,
              thresh = 1e-17, maxit = 1e7)
print_numbers <- function(values) cat(sprintf("%.17g", as.numeric(values)), "\\n")
print_numbers(fit$lambda * nrow(x))
outputs <- if (family == "binomial") list(fit$beta) else fit$beta
a0 <- if (family == "binomial") matrix(fit$a0, 1) else fit$a0
for (k in seq_along(outputs)) {
    print_numbers(a0[k, ])
    for (j in seq_len(ncol(x))) print_numbers(as.matrix(outputs[[k]])[j, ])
}
cat(as.character(packageVersion("glmnet")), "\\n")
"""


def path_of(D: Any, y: Any, ratio: float) -> dict[str, Any]:
    """Run R, and read the lines that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        table, script = Path(folder) / "rows.csv", Path(folder) / "path.R"
        script.write_text(SCRIPT)
        with table.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["y", *(f"x{j}" for j in range(D.shape[1]))])
            writer.writerows(
                [int(label), *map(repr, row)] for label, row in zip(y, D.tolist(), strict=True)
            )
        shares = ",".join(map(repr, SHARES))
        command = ["Rscript", "--vanilla", str(script), str(table), repr(ratio), shares]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split(
            "\n"
        )
    *numbers, version = [line.split() for line in lines if line.strip()]
    values = [[float(number) for number in line] for line in numbers]
    width = 1 + D.shape[1]
    outputs = [values[1 + k : 1 + k + width] for k in range(0, len(values) - 1, width)]
    return {"lams": values[0], "coefficients": outputs, "version": version[0]}


def main() -> None:
    """Write the paths of all tables."""
    out = {
        name: {str(ratio): path_of(D, y, ratio) for ratio in RATIOS}
        for name, (D, y) in peer_tables().items()
    }
    text = json.dumps(out).replace("], [", "],\n[")
    (HERE / "glmnet_paths.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

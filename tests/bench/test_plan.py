"""Plans, and the cells that they expand into."""

from immax.bench.cells import EstimatorCell, TrialCell
from immax.bench.plan_file import parse_plan


def content(**changes):
    base = {
        "name": "small",
        "title": "A small one",
        "models": ["linear", "mlp"],
        "methods": ["ce", "ldam", "immax"],
        "runs": 2,
        "data": {"names": ["made_up_images"]},
        "imbalance": {"kind": "long_tailed", "ratios": [10, 100]},
        "selection": {"folds": 3, "trials": 2},
        "training": {"epochs": 1},
    }
    return base | changes


def test_cells_are_all_combinations_and_trials_of_networks():
    cells = parse_plan(content()).cells()
    finals = [cell for cell in cells if cell.stage == "final"]
    trials = [cell for cell in cells if cell.stage == "trial"]
    assert len(finals) == 2 * 2 * 3 * 2  # ratios, models, methods, runs
    assert len(trials) == 2 * 2 * 2 * 3  # ratios, ldam and immax, grid points, folds
    assert len({cell.id for cell in cells}) == len(cells)
    assert cells.index(finals[0]) > cells.index(trials[-1])
    assert "resnet" not in finals[0].label()


def test_runs_begin_with_the_first_run():
    base, later = (parse_plan(content(**changes)).cells() for changes in ({}, {"first_run": 1}))
    runs = {cell.run for cell in later if cell.stage == "final"}
    assert runs == {1, 2}
    shared = {cell.id for cell in base} & {cell.id for cell in later if cell.stage == "final"}
    assert len(shared) == 2 * 2 * 3  # those of run 1


def test_a_cell_is_identified_by_what_defines_it():
    first = {cell.id for cell in parse_plan(content()).cells()}
    renamed = parse_plan(content(name="other", title="Other"))
    assert {cell.id for cell in renamed.cells()} == first
    longer = parse_plan(content(training={"epochs": 2}))
    same = first & {cell.id for cell in longer.cells()}
    assert same  # of the linear ones
    assert all(cell.model == "linear" for cell in longer.cells() if cell.id in same)
    assert longer.digest != parse_plan(content()).digest


def test_an_identity_does_not_change_with_the_version():
    assert parse_plan(content()).digest == "1e9a6b6ea68271ba"


def test_lambda_of_a_method_takes_the_place_of_the_selection_s():
    grids = {"immax": {"lam": [0.5], "power": [0.25]}, "ldam": {"lam": [0.1]}}
    cells = parse_plan(content(grids=grids)).cells()
    linear = [cell for cell in cells if isinstance(cell, EstimatorCell)]
    assert {cell.grid.get("lam") for cell in linear if cell.method == "immax"} == {(0.5,)}
    assert {cell.grid.get("lam") for cell in linear if cell.method == "ce"} == {None}
    trials = [cell for cell in cells if isinstance(cell, TrialCell)]
    assert trials
    assert all("lam" not in cell.params for cell in trials)
    assert {cell.method for cell in trials} == {"ldam"}  # IMMAX has one point


def test_every_point_of_a_grid_may_be_reported():
    grid = {"power": [0.0, 0.5], "total": [1.0], "lr": [0.1, 0.01], "epochs": [3]}
    own = parse_plan(
        content(
            models=["mlp"],
            methods=["ce", "immax"],
            imbalance={"kind": "long_tailed", "ratios": [10]},
            selection={"each": True},
            grids={"immax": grid},
        )
    )
    cells = own.cells()
    assert all(cell.stage == "final" for cell in cells)
    plain = [cell for cell in cells if cell.method == "ce"]
    assert [(cell.run, cell.training.epochs, cell.points) for cell in plain] == [
        (0, 1, ({},)),
        (1, 1, ({},)),
    ]
    others = [cell for cell in cells if cell.method == "immax"]
    assert len(others) == 2 * 2 * 2  # powers, rates, runs
    assert {cell.training.epochs for cell in others} == {3}
    assert {(cell.training.lr, *cell.fixed_params.values()) for cell in others} == {
        (lr, power, 1.0) for lr in (0.1, 0.01) for power in (0.0, 0.5)
    }
    assert [cell.run for cell in cells] == [0] * 5 + [1] * 5  # a run is complete before the next

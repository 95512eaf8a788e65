"""The types in model files: those that are loaded, and the present modules of those that moved."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

__all__ = ["TRUSTED", "relocate_classes"]

OBJECTS = "schema.json"  # skops's description of the objects
MOVED = {
    ("immax.kernel", "IMMAXSVC"): "immax.kernels.svc",
    ("immax.compare.refit", "CodedLabels"): "immax.compare.final_model",
    ("immax.compare.decided_model", "CalibratedScores"): "immax.decisions.calibrated_scores",
    ("immax.compare.decided_model", "DecidedModel"): "immax.decisions.decided_model",
    ("immax.decisions.aims", "Costs"): "immax.decisions.costs",
    **{
        ("immax.decisions.aims", name): "immax.decisions.constrained_aims"
        for name in ("Budget", "PrecisionAt", "RecallAt")
    },
}
"""The present modules of classes that were elsewhere in earlier versions."""
AIM_TYPES = (
    "Accuracy",
    "BalancedAccuracy",
    "FBeta",
    "GMean",
    "Jaccard",
    "Kappa",
    "LogLoss",
    "MCC",
)
TRUSTED = frozenset(
    {
        "sklearn.compose._column_transformer._RemainderColsList",  # of scikit-learn 1.6
        "immax.calibration.ScoreCalibration",
        "immax.decisions.calibrated_scores.CalibratedScores",
        "immax.decisions.classifier.DecisionClassifierCV",
        "immax.decisions.decided_model.DecidedModel",
        "immax.decisions.rules.Rule",
        *(f"immax.decisions.aims.{name}" for name in AIM_TYPES),
        "immax.decisions.constrained_aims.Budget",
        "immax.decisions.constrained_aims.PrecisionAt",
        "immax.decisions.constrained_aims.RecallAt",
        "immax.decisions.costs.Costs",
        "immax.linear.IMMAXClassifier",
        "immax.linear.BaselineClassifier",
        "immax.kernels.svc.IMMAXSVC",
        "immax.losses.spec.LossSpec",
        "immax.boosting.catboost.IMMAXCatBoostClassifier",
        "immax.boosting.lightgbm.IMMAXLGBMClassifier",
        "immax.boosting.lightgbm.LGBMObjective",
        "immax.boosting.loss.BoostingLoss",
        "immax.boosting.xgboost.IMMAXXGBClassifier",
        "immax.compare.final_model.CodedLabels",
        "immax.search.classifier.IMMAXClassifierCV",
        "immax.search.svc.IMMAXSVCCV",
        "immax.search.box_families.BoxFamily",
        "immax.search.box_families.SharedTailFamily",
        "immax.search.counted_family.CountedFamily",
        "immax.search.families.PowerFamily",
        "immax.search.families.FreeFamily",
        "immax.search.families.BoxFamily",  # of files by earlier versions
        "immax.search.families.SharedTailFamily",
        "immax.search.weighted_family.WeightedFamily",
        "immax.tabular.pipeline.TableFeatures",
        "immax.tabular.pipeline.TypedColumns",
        "collections.OrderedDict",
        "lightgbm.basic.Booster",
        "numpy.dtype",
        "sklearn.model_selection._split.StratifiedKFold",
        "xgboost.core.Booster",
        "xgboost.sklearn.XGBClassifier",
    }
)
"""The names of the types that ``load_model`` loads in addition to those that skops itself trusts.

Other programs that read skops files take them as a list: ``sorted(TRUSTED)``.
"""


def relocate_classes(data: bytes) -> bytes:
    """Return a file of an earlier version with its classes in their present modules.

    Parameters
    ----------
    data : bytes
        A model file.

    Returns
    -------
    bytes
    """
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        objects = source.read(OBJECTS)
        if not any(module.encode() in objects for module, _ in MOVED):
            return data
        converted = json.loads(objects, object_hook=_in_its_module)
        if converted == json.loads(objects):
            return data
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in source.namelist():
                content = json.dumps(converted).encode() if name == OBJECTS else source.read(name)
                archive.writestr(name, content)
    return target.getvalue()


def _in_its_module(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an object's description with the module that its class is in now."""
    moved = MOVED.get((str(entry.get("__module__")), str(entry.get("__class__"))))
    return entry if moved is None else {**entry, "__module__": moved}

"""Makes generated options of a stream consistent before they are sent.

Schemathesis cannot draw options from the rules between them (`allOf` of a model), so it draws each option
alone. Options are then left out until the others satisfy the whole schema and the rules between numbers in
its description.
"""

import copy

import jsonschema_rs
import schemathesis

validators = []


def number(value):
    """Return the number, which may be given as text, or None."""
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def are_numbers_consistent(options):
    """Return true unless two numbers contradict each other."""
    k, lags, mode = number(options.get("k")), number(options.get("lags")) or 0, options.get("mode")
    frozen = mode[7:] if isinstance(mode, str) and mode.startswith("freeze:") else None
    if options.get("kind") == "monitor" and k is not None and k + lags >= 4096:
        return False
    at_least = [
        ("feature_dim", number(options.get("feature_dim")), None if k is None else k + 1),
        ("max_rank", number(options.get("max_rank")), k),
        ("budget", number(options.get("budget")), k),
        ("warm_up", number(frozen or options.get("warm_up")), 20 + lags),
    ]
    return all(value is None or least is None or value >= least for _, value, least in at_least)


def is_consistent(options):
    """Return true if the service must accept the options."""
    return validators[0].is_valid(options) and are_numbers_consistent(options)


def consistent(options):
    """Return consistent options: each option is kept if it fits the options kept before."""
    kept = {name: options[name] for name in ("kind", "k") if name in options}
    if not is_consistent(kept):
        kept.pop("k", None)
    for name in ("learner", "kernel", *options):
        if name in options and is_consistent({**kept, name: options[name]}):
            kept[name] = options[name]
    return kept


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Store the whole schema of the options, and remove the rules that Schemathesis cannot draw from."""
    body = raw_schema["paths"]["/v1/streams/{name}"]["put"]["requestBody"]["content"]["application/json"]
    validators[:] = [jsonschema_rs.Draft202012Validator(copy.deepcopy(body["schema"]))]
    for kind in body["schema"]["oneOf"]:
        kind.pop("allOf", None)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Make valid options consistent. Invalid ones stay invalid."""
    is_creation = case.method.upper() == "PUT" and case.path.endswith("/{name}")
    is_valid = case.meta is not None and case.meta.generation.mode.is_positive
    if is_creation and is_valid and isinstance(case.body, dict):
        case.body = consistent(case.body)

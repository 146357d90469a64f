"""Attributes of types and relations, what a value must be and how one that a text gives is checked; and types of entities."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_args, get_origin

from graphmem.checks import flag, items, text
from graphmem.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic import BaseModel, ConfigDict
    from pydantic.fields import FieldInfo

_SCALARS: Mapping[str, type] = {"str": str, "int": int, "float": float, "bool": bool, "date": date, "datetime": datetime}
_NAMED = {kind: name for name, kind in _SCALARS.items()}
VALUE_TYPES = (*_SCALARS, *(f"list[{name}]" for name in _SCALARS))
MAX_TEXT = 1_000
MAX_ITEMS = 100
MAX_LIST = 10
"""How many times as long as one text a list may be in all."""

Check = Callable[[object], object]


def type_key(name: str) -> str:
    """How names of types are compared: "Sailing boat", "sailing_boat" and "SailingBoat" are one."""
    return "".join(c for c in name.casefold() if c.isalnum())


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a type of entity or of a relation. `type` is "str", "int", "float", "bool", "date", "datetime", or a list
    of one of these ("list[str]"); `choices` are the only values allowed. A `required` one is kept however long it is; no
    entity and no fact is refused for lacking it.
    """

    name: str
    type: str = "str"
    description: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    _check: Check | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidInput("ontology", self.name, "an attribute needs a name")
        text(f"{self.name}.description", self.description)
        choices = items(f"{self.name}.choices", self.choices, "values")
        object.__setattr__(self, "choices", tuple(str(choice) for choice in choices))
        flag(f"{self.name}.required", self.required)
        if self.type not in VALUE_TYPES:
            raise InvalidInput("ontology", self.type, f"the type of attribute {self.name!r} must be one of {', '.join(VALUE_TYPES)}")
        if self._check is None and self.choices:
            try:
                _adapter(self.type, self.choices)
            except ValueError:
                raise InvalidInput(
                    "ontology", self.choices, f"the choices of attribute {self.name!r} must be of type {self.type}"
                ) from None

    def checked(self, value: object, longest: int = MAX_TEXT) -> object:
        """`value` as this attribute keeps it: "1998" as 1998, a date as ISO 8601. Raises `ValueError` for what does not fit: also
        a text of more than `longest` characters, and a list of more than `MAX_ITEMS` items or `MAX_LIST` times as many characters.

        >>> Attribute("founded", "int").checked("1998"), Attribute("tags", "list[str]").checked("harbour")
        (1998, ['harbour'])
        """
        if self.type.startswith("list[") and not isinstance(value, list | tuple):
            value = [value]
        if not self.required:
            _check_length(value if isinstance(value, list | tuple) else (value,), longest)
        return (self._check or _adapter(self.type, self.choices))(value)

    def row(self) -> dict[str, object]:
        """The attribute as plain values."""
        row: dict[str, object] = {"name": self.name, "type": self.type}
        if self.description:
            row["description"] = self.description
        if self.choices:
            row["choices"] = list(self.choices)
        if self.required:
            row["required"] = True
        return row


def _check_length(values: Sequence[object], longest: int) -> None:
    lengths = [len(v) for v in values if isinstance(v, str)]
    if len(values) > MAX_ITEMS:
        raise ValueError(f"more than {MAX_ITEMS} items")
    if max(lengths, default=0) > longest or sum(lengths) > longest * MAX_LIST:
        raise ValueError(f"longer than {longest} characters, or in all than {longest * MAX_LIST}")


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of entity. `parent` names the wider type that it also is: a thing of either can be one of the other."""

    name: str
    description: str = ""
    attributes: tuple[Attribute, ...] = ()
    parent: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not type_key(self.name):
            raise InvalidInput("ontology", self.name, "a type needs a name")
        text(f"{self.name}.description", self.description)
        if self.parent is not None:
            text(f"{self.name}.parent", self.parent)
        object.__setattr__(self, "attributes", attributes_of(self.attributes))
        check_attributes(self.name, self.attributes)

    @classmethod
    def of(cls, model: type[BaseModel]) -> EntityType:
        """The type that a pydantic class describes: its name, docstring and fields; a parent class is the parent type.

        Values are checked as the fields say, limits and validators of single fields included; all fields may be missing, and
        those that the class requires are kept however long they are.
        Raises `InvalidInput` for a field whose type is not one of `VALUE_TYPES`, an enum or a literal, and for a validator of
        the whole class: values come one by one.
        """
        parents = [base for base in model.__bases__ if base.__name__ != "BaseModel" and hasattr(base, "model_fields")]
        described = inspect.cleandoc(model.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        return cls(model.__name__, described, attributes_of(model), parents[0].__name__ if parents else None)

    def row(self) -> dict[str, object]:
        """The type as plain values."""
        row: dict[str, object] = {"name": self.name}
        if self.description:
            row["description"] = self.description
        if self.attributes:
            row["attributes"] = [a.row() for a in self.attributes]
        if self.parent:
            row["parent"] = self.parent
        return row


def type_of(given: object) -> EntityType:
    """A type as it may be given: an `EntityType`, a pydantic class, a name, or a row that `EntityType.row` wrote. Attributes of
    a row may be a dict of names and types. Raises `InvalidInput`.
    """
    if isinstance(given, EntityType):
        return given
    if isinstance(given, str):
        return EntityType(given)
    if isinstance(given, type) and hasattr(given, "model_fields"):
        return EntityType.of(given)
    if not isinstance(given, Mapping):
        raise InvalidInput("ontology", given, "a type is an EntityType, a pydantic class, a name or a dict")
    return EntityType(**_known_keys(given, EntityType))


def types_of(given: object) -> list[EntityType]:
    """Types as they may be given: one as `type_of` takes it, or several. Raises `InvalidInput`."""
    if isinstance(given, str | type | EntityType):
        return [type_of(given)]
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise InvalidInput("types", given, "must be a list of EntityTypes, pydantic classes, names and dicts")
    return [type_of(one) for one in given]


def attributes_of(given: object) -> tuple[Attribute, ...]:
    """Attributes as they may be given: a list of `Attribute`s, names and rows, a dict of names and types, or a pydantic class,
    whose fields they are. Raises `InvalidInput`.

    >>> [a.type for a in attributes_of({"since": "int", "desk": "str"})]
    ['int', 'str']
    """
    if isinstance(given, type) and hasattr(given, "model_fields"):
        _check_validators(given)
        return tuple(_of_field(given, name, info) for name, info in given.model_fields.items())
    if isinstance(given, Mapping):
        given = [{"name": name, "type": kind} for name, kind in given.items()]
    if not isinstance(given, list | tuple):
        raise InvalidInput("ontology", given, "attributes are a list, a dict of names and types, or a pydantic class")
    return tuple(_attribute_of(a) for a in given)


def check_attributes(owner: str, attributes: Sequence[Attribute]) -> None:
    """Raises `InvalidInput` if two attributes of one owner have one name."""
    names = [type_key(a.name) for a in attributes]
    if len(set(names)) != len(names):
        raise InvalidInput("ontology", [a.name for a in attributes], f"{owner} has two attributes of one name")


def _attribute_of(given: object) -> Attribute:
    if isinstance(given, Attribute):
        return given
    if isinstance(given, str):
        return Attribute(given)
    if not isinstance(given, Mapping):
        raise InvalidInput("ontology", given, "an attribute is an Attribute, a name or a dict")
    return Attribute(**_known_keys(given, Attribute))


def _known_keys(given: Mapping[Any, Any], kind: type) -> dict[str, Any]:
    allowed = [name for name in inspect.signature(kind).parameters if not name.startswith("_")]
    unknown = sorted(str(k) for k in given if k not in allowed)
    if unknown or "name" not in given:
        raise InvalidInput("ontology", unknown or dict(given), f"needs a name; allowed keys are {', '.join(allowed)}")
    return dict(given)


# ------------------------------------------------------------------------------------------------ checking by pydantic


@lru_cache(maxsize=512)
def _adapter(kind: str, choices: tuple[str, ...]) -> Check:
    """The check of a kind; of choices that are not of the kind it raises `ValueError`."""
    scalar = _SCALARS[kind.removeprefix("list[").removesuffix("]")]
    check = _checking(list[scalar] if kind.startswith("list[") else scalar)  # type: ignore[valid-type]
    if not choices:
        return check
    allowed = [_checking(scalar)(choice) for choice in choices]

    def chosen(value: object) -> object:
        found = check(value)
        if any(one not in allowed for one in (found if isinstance(found, list) else [found])):
            raise ValueError(f"must be one of {', '.join(map(str, choices))}")
        return found

    return chosen


def _checking(annotation: Any, of_texts: Mapping[str, Any] = types.MappingProxyType({})) -> Check:
    """A check that gives plain JSON values back; `of_texts` is what a class says of all its texts. pydantic's errors are `ValueError`s."""
    from pydantic import TypeAdapter

    try:
        adapter: TypeAdapter[object] = TypeAdapter(annotation, config=_config(of_texts))
    except Exception:  # a type that brings its own config
        adapter = TypeAdapter(annotation)
    return _guarded(lambda value: adapter.dump_python(adapter.validate_python(value), mode="json"))


def _config(of_texts: Mapping[str, Any]) -> ConfigDict:
    return cast("ConfigDict", {"coerce_numbers_to_str": True, "allow_inf_nan": False, "protected_namespaces": (), **of_texts})


def _guarded(check: Check) -> Check:
    """The check, whose every fault is a `ValueError`: validators of a class are anybody's code."""

    def checked(value: object) -> object:
        try:
            return check(value)
        except (ValueError, RecursionError):
            raise
        except Exception as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error

    return checked


def _check_validators(owner: type[BaseModel]) -> None:
    """Raises `InvalidInput` for a validator that no single value can be held against."""
    found = owner.__pydantic_decorators__
    for unheeded in (found.model_validators, found.root_validators, found.validators):
        for name in unheeded:
            allowed = "values come one by one: a validator of the whole class, or of pydantic 1, would check nothing; use field_validator"
            raise InvalidInput("ontology", f"{owner.__name__}.{name}", allowed)


def _validating(owner: type[BaseModel], name: str, annotation: Any, metadata: Sequence[object]) -> Check:
    """A check by the field's own type, limits and validators, as a class of that one field."""
    from pydantic import AfterValidator, BeforeValidator, PlainValidator, WrapValidator, create_model

    kinds: Mapping[str, Any] = {"after": AfterValidator, "before": BeforeValidator, "plain": PlainValidator, "wrap": WrapValidator}
    heeded = [v for v in owner.__pydantic_decorators__.field_validators.values() if {name, "*"} & set(v.info.fields)]
    of_texts = {key: value for key, value in owner.model_config.items() if key.startswith("str_")}
    whole = (*metadata, *(kinds[v.info.mode](v.func) for v in heeded))
    if not heeded:
        return _checking(Annotated[(annotation, *whole)] if whole else annotation, of_texts)
    fields: dict[str, Any] = {name: (Annotated[(annotation, *whole)], ...)}
    alone: type[BaseModel] = create_model(owner.__name__, __config__=_config(of_texts), **fields)
    return _guarded(lambda value: alone.model_validate({name: value}).model_dump(mode="json", warnings=False)[name])


def _of_field(owner: type[BaseModel], name: str, info: FieldInfo) -> Attribute:
    annotation = _without_none(info.annotation)
    repeated = get_origin(annotation) in (list, tuple, set, frozenset)
    inner = get_args(annotation)[0] if repeated and get_args(annotation) else annotation
    choices: Sequence[object] = ()
    if get_origin(inner) is Literal:
        choices = get_args(inner)
    elif isinstance(inner, type) and issubclass(inner, Enum):
        choices = [member.value for member in inner]
    elif get_origin(inner) is Annotated:
        inner = get_args(inner)[0]
    if choices:
        kinds = {type(c) for c in choices}
        inner = kinds.pop() if len(kinds) == 1 else str
    kind = _NAMED.get(inner) if isinstance(inner, type) else None
    if kind is None:
        raise InvalidInput(
            "ontology", annotation, f"field {owner.__name__}.{name} must be one of {', '.join(VALUE_TYPES)}, an enum or a literal"
        )
    check = _validating(owner, name, annotation, tuple(info.metadata))
    return Attribute(
        name, f"list[{kind}]" if repeated else kind, info.description or "", tuple(str(c) for c in choices), info.is_required(), check
    )


def _without_none(annotation: Any) -> Any:
    """The type of an optional field."""
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [a for a in get_args(annotation) if a is not type(None)]
        return inner[0] if len(inner) == 1 else annotation
    return annotation

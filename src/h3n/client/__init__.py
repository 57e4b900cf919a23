"""A client of `h3n serve`, of the standard library alone: one class for plain programs, one for asyncio.

>>> from h3n.client import Client
>>> with Client("http://localhost:8000") as client:
...     for sentence in client.parse("It smells good."):
...         print(sentence["tree"])

Sentences are dictionaries as `Result.to_dict` makes them, with the number of their text as ``source``. A service that
is full or starting is asked again when it says so; any other refusal is a `ServiceError`.
"""

from h3n.client.asynchronous import AsyncClient
from h3n.client.plain import Client
from h3n.client.shared import Address, Sentences

__all__ = ["Address", "AsyncClient", "Client", "Sentences"]

"""Parsing over HTTP: a service that puts the sentences of all its clients into common batches, and a page to look at.

`h3n.serve.app.create_app` makes an ASGI application of loaded parsers; `h3n serve` runs it. Both need the extra
``serve``, this module alone does not.
"""

from h3n.serve.settings import ServiceLimits, Settings

__all__ = ["ServiceLimits", "Settings"]

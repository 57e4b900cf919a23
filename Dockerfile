# The page and the HTTP service of h3n. Build with: docker build -t h3n . ; run with: docker run -p 8000:8000 h3n
FROM python:3.11-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# The constraints keep torch at the version h3n is tested with. With --build-arg PIP_EXTRA_INDEX_URL=... an index that has
# builds of torch for processors alone can be named, which makes the image smaller by gigabytes.
ARG PIP_EXTRA_INDEX_URL
RUN python -m venv /h3n \
    && /h3n/bin/pip install --no-cache-dir -c constraints.txt torch \
    && /h3n/bin/pip install --no-cache-dir -c constraints.txt '.[serve]'

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --create-home h3n
COPY --from=build /h3n /h3n
USER 10001
ENV PATH=/h3n/bin:$PATH PYTHONUNBUFFERED=1
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
ENTRYPOINT ["h3n", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["--model", "en"]

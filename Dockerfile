# octavo in a container: docker build -t octavo . && docker run --rm -v "$PWD:/work" -w /work octavo train --help
FROM debian:12 AS build
COPY scripts/setup scripts/packages.txt /src/scripts/
RUN /src/scripts/setup && rm -rf /var/lib/apt/lists/*
COPY . /src
WORKDIR /src
RUN cmake --preset release -DOCTAVO_TESTS=OFF && cmake --build --preset release --parallel "$(nproc)" \
  && cd build/release && cpack -G DEB

# Several machines: also MPI, and ssh between the containers (examples/machines).
FROM debian:12-slim AS machines
COPY --from=build /src/build/release/octavo*.deb /tmp/
RUN apt-get update && apt-get install --yes --no-install-recommends /tmp/octavo*.deb openmpi-bin openssh-client \
  openssh-server && rm -rf /tmp/octavo*.deb /var/lib/apt/lists/*
COPY examples/machines/node /usr/local/bin/
ENTRYPOINT ["node"]

# The package brings what the program needs and no compiler.
FROM debian:12-slim
COPY --from=build /src/build/release/octavo_*.deb /tmp/
RUN apt-get update && apt-get install --yes --no-install-recommends /tmp/octavo_*.deb \
  && rm -rf /tmp/octavo_*.deb /var/lib/apt/lists/*
ENTRYPOINT ["octavo"]
CMD ["--help"]

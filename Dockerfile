# The command alone, linked with nothing outside it:  docker build -t palisade .  &&  docker run --rm -v "$PWD:/work" palisade check models
FROM rust:1.95-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY . .
RUN cargo install --locked --path . --profile dist --root /out

FROM scratch
COPY --from=build /out/bin/palisade /palisade
WORKDIR /work
ENTRYPOINT ["/palisade"]
CMD ["--help"]

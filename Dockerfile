# The two commands of README in a fresh image: docker build . (docker build --target build . leaves the tests out)
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates make python3
COPY . /reprise
WORKDIR /reprise
RUN make demo

FROM build AS test
RUN make test

# The demo load of docker-compose.yml, without anything that it does not need.
FROM golang:1.26.5-alpine3.24 AS build
WORKDIR /src
ENV GOWORK=off CGO_ENABLED=0
# What the modules need is fetched once, and again only when it changes.
COPY go.mod go.sum ./
COPY bench/go.mod bench/go.sum bench/
RUN cd bench && go mod download
COPY autopipe autopipe
COPY hook hook
COPY internal internal
COPY telemetry telemetry
COPY bench bench
RUN cd bench && go build -trimpath -o /demoload ./cmd/demoload

FROM alpine:3.22.2
COPY --from=build /demoload /usr/local/bin/demoload
USER 65532:65532
EXPOSE 9464
ENTRYPOINT ["/usr/local/bin/demoload"]

/**
 * Traces of calls, sent to a collector over OTLP. The only package that uses OpenTelemetry, which
 * is not loaded while tracing is off. Entry class: {@link io.troupe.node.tracing.OtlpTracing}.
 * Imports edge.calls, server, grpc.error, metrics, model and protocol. See
 * docs/components/gateway.md, decisions 0115 and 0138.
 */
@NullMarked
package io.troupe.node.tracing;

import org.jspecify.annotations.NullMarked;

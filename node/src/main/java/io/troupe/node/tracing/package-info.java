/**
 * Traces of calls, sent to a collector over OTLP. The only package that sees OpenTelemetry; nothing
 * of it is loaded while tracing is off. Entry class: {@link io.troupe.node.tracing.OtlpTracing}.
 * Imports grpc.http, grpc.service and grpc.error. See docs/rooms/gateway.md and decision 0115.
 */
@NullMarked
package io.troupe.node.tracing;

import org.jspecify.annotations.NullMarked;

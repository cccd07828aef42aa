package io.troupe.node.tracing;

/**
 * Settings of tracing. Checked where the configuration is read.
 *
 * @param address of the collector's OTLP port for gRPC, without TLS: {@code host:port}
 * @param serviceName name of this program in traces
 * @param instanceId identifies this member among the members with that name; empty: not sent
 * @param samplesPerMillion sampling rate of calls without a trace, 0..1000000; for a call with a
 *     trace, the trace decides
 */
public record TracingSettings(
    String address, String serviceName, String instanceId, int samplesPerMillion) {}

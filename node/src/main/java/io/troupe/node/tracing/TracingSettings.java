package io.troupe.node.tracing;

/**
 * Where traces of calls go. Checked where the configuration is read.
 *
 * @param address of the collector's OTLP port for gRPC, without TLS: {@code host:port}
 * @param serviceName what this program is called in traces
 * @param instanceId what this member is called among others of that name; empty: nothing
 * @param samplesPerMillion of the calls that are no part of a trace yet, 0..1000000; whether a part
 *     of a trace is recorded is decided by the trace
 */
public record TracingSettings(
    String address, String serviceName, String instanceId, int samplesPerMillion) {}

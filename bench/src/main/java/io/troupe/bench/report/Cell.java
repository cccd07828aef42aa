package io.troupe.bench.report;

/**
 * One measurement: one profile at one load on one server.
 *
 * @param profile the profile's name
 * @param load its size or phase: "100 clients", "1000 watchers", "before"
 * @param count requests completed in the window, or events delivered
 * @param opsPerSecond the same per second
 * @param latency of those
 * @param errors requests that failed or had an invalid response, in the warm-up too
 * @param serverCpuPer100k CPU-seconds of the server per 100,000 operations; NaN if its process is
 *     not known, or if the operations are one kind of several
 * @param serverRssBytes its resident memory at the end of the window, or at most during some work;
 *     -1 if not known
 * @param clientCpuPer100k CPU-seconds of the generator per 100,000 operations
 * @param otherCores cores that other programs used: above about 0.2 the figures are doubtful
 */
public record Cell(
    String profile,
    String load,
    long count,
    double opsPerSecond,
    Latency latency,
    long errors,
    double serverCpuPer100k,
    long serverRssBytes,
    double clientCpuPer100k,
    double otherCores) {}

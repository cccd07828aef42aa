package io.troupe.server;

import java.time.Instant;

/**
 * A backup that was written on request.
 *
 * @param id its name in the target
 * @param time when the state was frozen, in milliseconds
 * @param revision newest revision in it, 1 or more
 * @param index last entry of the log in it, 1 or more
 * @param bytes size of all its files
 * @param target what operators call the target
 */
public record WrittenBackup(
    String id, Instant time, long revision, long index, long bytes, String target) {}

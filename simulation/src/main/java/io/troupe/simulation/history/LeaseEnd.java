package io.troupe.simulation.history;

/**
 * The end of a lease.
 *
 * @param lease id of the lease
 * @param atUs when the first member applied its revoke
 */
public record LeaseEnd(long lease, long atUs) {}

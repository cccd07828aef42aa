package io.troupe.model;

/**
 * An active alarm.
 *
 * @param member who raised it
 * @param type which
 */
public record AlarmMember(NodeId member, AlarmType type) {}

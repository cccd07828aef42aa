package io.troupe.model;

/**
 * An active alarm.
 *
 * @param member member that raised the alarm
 * @param type kind of the alarm
 */
public record AlarmMember(NodeId member, AlarmType type) {}

package io.troupe.protocol;

/** What travels between the members' inboxes. */
public sealed interface PeerFrame permits PeerEnvelope, PeerFragment, PeerFrame.Private {
  /** Only the inbox's own timers. */
  non-sealed interface Private extends PeerFrame {}
}

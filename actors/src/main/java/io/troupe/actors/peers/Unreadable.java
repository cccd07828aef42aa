package io.troupe.actors.peers;

import io.troupe.protocol.PeerFrame;
import io.troupe.protocol.QueryFrame;

/** Came from outside in place of a message; void. */
record Unreadable(String reason) implements PeerFrame.Private, QueryFrame.Private {}

package io.troupe.server;

import io.troupe.server.auth.Passwords;
import io.troupe.server.auth.Tokens;

/** The means by which callers authenticate. */
public record Logins(Tokens tokens, Passwords passwords) {}

package io.troupe.grpc.service;

import io.troupe.grpc.auth.Passwords;
import io.troupe.grpc.auth.Tokens;

/** The means by which callers authenticate. */
public record Logins(Tokens tokens, Passwords passwords) {}

package io.troupe.grpc.service;

import io.troupe.grpc.auth.Passwords;
import io.troupe.grpc.auth.Tokens;

/** How callers prove who they are. */
public record Logins(Tokens tokens, Passwords passwords) {}

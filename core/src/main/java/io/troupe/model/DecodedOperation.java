package io.troupe.model;

/** The operation of an entry, with its id and its requester. */
public record DecodedOperation(RequestId id, Requester requester, Operation operation) {}

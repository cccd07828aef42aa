/**
 * Endpoints over HTTP/1.1 for health, metrics, versions and profiles, and the access rules of a
 * port. Entry class: {@link io.troupe.edge.http.HttpRoutes}. Imports edge.connection, edge.json,
 * metrics and server. See docs/components/http.md.
 */
@NullMarked
package io.troupe.edge.http;

import org.jspecify.annotations.NullMarked;

/**
 * TLS of both ports: keys, certificates, whom to trust, and when files change (spec 8.5).
 *
 * <p>Gateway and peers are handed engines; they know no files.
 */
@NullMarked
package io.troupe.node.tls;

import org.jspecify.annotations.NullMarked;

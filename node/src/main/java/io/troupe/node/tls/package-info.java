/**
 * TLS of both ports: keys, certificates, trusted CAs, and reloading of files (spec 8.5).
 *
 * <p>Gateway and peers receive engines and do not read files.
 */
@NullMarked
package io.troupe.node.tls;

import org.jspecify.annotations.NullMarked;

/**
 * Third-party clients against a member as a real process. Entry class: {@link
 * io.troupe.node.clients.EtcdctlIT}. Imports jetcd and the process package of the tests. See
 * docs/conformance.md.
 */
@NullMarked
package io.troupe.node.clients;

import org.jspecify.annotations.NullMarked;

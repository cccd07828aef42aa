/**
 * Third-party clients against a member as a real process. Entry class: {@link
 * io.troupe.tests.clients.EtcdctlIT}. Imports jetcd and the process package of the tests. See
 * docs/conformance.md.
 */
@NullMarked
package io.troupe.tests.clients;

import org.jspecify.annotations.NullMarked;

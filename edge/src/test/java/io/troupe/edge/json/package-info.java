/** Tests of io.troupe.edge.json. See docs/components/http.md. */
@NullMarked
package io.troupe.edge.json;

import org.jspecify.annotations.NullMarked;

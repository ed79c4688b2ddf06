"""The rules of Scala 40 as Numba kernels over fixed-size game records.

Every game is one record of the dtype ``GAME`` (`state`). Kernels that Python calls take the whole array and an index,
because passing a single record from Python costs seven times as much; inside the kernels a record ``g`` goes by
reference. Where to begin: `state` (the record), `engine` (the doors), `turn` (what moves do), `moves` and `legality`
(which moves are legal), `packing` (the opening solver), `scoring`, `deal`.
"""

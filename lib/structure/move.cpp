#include "structure/move.h"

namespace adapvae {

double allocation_of(const double* mass, Index clusters, const Concentration& concentration,
                     Index* order) {
  sort_by_mass(mass, clusters, order);
  return allocation_bound(mass, order, clusters, concentration);
}

}  // namespace adapvae

//! The TLVs that a message carries behind the names of its MIHFs.

use std::ops::Deref;
use std::sync::Arc;

use super::tlv::Tlv;

/// TLVs in their order, and how long they are, which is summed up once. They are shared: a retransmission,
/// and the same content sent again, cost no copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tlvs {
    list: Arc<[Tlv]>,
    encoded_bytes: usize,
}

impl Tlvs {
    /// The octets of all of them.
    #[inline]
    pub fn encoded_bytes(&self) -> usize {
        self.encoded_bytes
    }

    /// Whether these are others in the same memory.
    #[inline]
    pub(crate) fn shares(&self, other: &Tlvs) -> bool {
        Arc::ptr_eq(&self.list, &other.list)
    }
}

impl Deref for Tlvs {
    type Target = [Tlv];

    #[inline]
    fn deref(&self) -> &[Tlv] {
        &self.list
    }
}

impl From<Arc<[Tlv]>> for Tlvs {
    fn from(list: Arc<[Tlv]>) -> Tlvs {
        let encoded_bytes = list.iter().map(Tlv::encoded_bytes).sum();
        Tlvs { list, encoded_bytes }
    }
}

impl From<Vec<Tlv>> for Tlvs {
    fn from(list: Vec<Tlv>) -> Tlvs {
        Tlvs::from(Arc::from(list))
    }
}

impl<const N: usize> From<[Tlv; N]> for Tlvs {
    fn from(list: [Tlv; N]) -> Tlvs {
        Tlvs::from(Arc::from(list))
    }
}

impl FromIterator<Tlv> for Tlvs {
    fn from_iter<I: IntoIterator<Item = Tlv>>(list: I) -> Tlvs {
        Tlvs::from(list.into_iter().collect::<Arc<[Tlv]>>())
    }
}

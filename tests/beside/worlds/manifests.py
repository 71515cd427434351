"""How an object of Kueue's API is written."""

KUEUE = 'kueue.x-k8s.io/v1beta2'


def manifest(kind, name, spec, namespace=None):
    meta = {'name': name}
    if namespace:
        meta['namespace'] = namespace
    return {'apiVersion': KUEUE, 'kind': kind, 'metadata': meta, 'spec': spec}
